"""GKE: google.container.v1.ClusterManager over gRPC (`rpc`) and over REST (`rest`), one state.

`calls` has the calls, on the JSON form of their messages (`messages`); `rules`, `gpu_rules`, `labels`, `versions`,
`update` and `errors` what is refused and how; `pool` and `cluster` what the server adds; `operations` and `endings` how
work goes on and ends; `nodes` what a pool's nodes are, by `machines` and `tables`; `names` projects and zones.
"""
