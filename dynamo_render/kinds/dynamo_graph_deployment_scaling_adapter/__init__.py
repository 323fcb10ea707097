"""DynamoGraphDeploymentScalingAdapter: the replicas of one service, for autoscalers. Specification: api.md section 7.

Nothing is rendered for an adapter; `status` says what it wants of its graph.
"""
