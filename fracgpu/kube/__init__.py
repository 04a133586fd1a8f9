"""The Kubernetes side of a pool: what the plugin is told, what nodes must show, and pods that land there."""
