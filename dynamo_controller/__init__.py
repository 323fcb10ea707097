"""Keep the objects that dynamo_render describes in place on a cluster."""
