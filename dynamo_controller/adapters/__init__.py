"""The outside world behind the protocols of `dynamo_controller.ports`; nothing here decides anything."""
