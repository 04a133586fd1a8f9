"""The Kubernetes API of the sandbox's clusters, and what moves by itself in a cluster: nodes, plugin, scheduler.

`api.app(world)` is the HTTP front. `Cluster.kubernetes` holds a `life.Life`, made on first sight.
"""
