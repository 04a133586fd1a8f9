aws ec2 create-launch-template \
  --region us-east-1 \
  --launch-template-name fracgpu-ml-prod-block \
  --launch-template-data '{"MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}, "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}}, "InstanceMarketOptions": {"MarketType": "capacity-block"}, "InstanceType": "p6e-gb200.36xlarge"}' \
  --tag-specifications '[{"ResourceType": "launch-template", "Tags": [{"Key": "fracgpu-managed", "Value": "true"}, {"Key": "fracgpu-cluster", "Value": "ml-prod"}, {"Key": "fracgpu-pool", "Value": "block"}]}]'

aws eks create-nodegroup \
  --region us-east-1 \
  --cluster-name ml-prod \
  --nodegroup-name block \
  --scaling-config minSize=1,maxSize=1,desiredSize=1 \
  --subnets subnet-0aaaaaaaaaaaaaaa1 subnet-0bbbbbbbbbbbbbbb2 \
  --node-role arn:aws:iam::111122223333:role/EKSGpuNodeRole \
  --ami-type AL2023_ARM_64_NVIDIA \
  --capacity-type CAPACITY_BLOCK \
  --launch-template name=fracgpu-ml-prod-block,version=1 \
  --taints '[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]' \
  --tags '{"fracgpu-managed": "true"}' \
  --update-config maxUnavailable=1,updateStrategy=MINIMAL
