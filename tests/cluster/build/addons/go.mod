module dynamo-render.test/addons

go 1.24.0

require (
	github.com/NVIDIA/grove/operator/api v0.1.0-alpha.3
	istio.io/api v1.23.1
	sigs.k8s.io/gateway-api-inference-extension v1.2.0
	sigs.k8s.io/lws v0.6.1
)
