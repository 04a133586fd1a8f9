"""AKS as azure-mgmt-containerservice and az expect it: Azure Resource Manager's part of it.

`front` has the routes, `request` one request, `calls` what is done; `body` the grammar of a pool, `rules`, `quota` and
`errors` what is refused and how; `pools` how a pool lives, `cluster` the managed cluster around it, `nodes` and `sizes`
what its nodes are; `compute` the little of Microsoft.Compute that there is.
"""
