aws ec2 create-launch-template \
  --region us-east-1 \
  --launch-template-name fracgpu-ml-prod-gpu-br-mig \
  --launch-template-data '{"UserData": "W3NldHRpbmdzLmt1YmVsZXQtZGV2aWNlLXBsdWdpbnMubnZpZGlhXQpkZXZpY2UtcGFydGl0aW9uaW5nLXN0cmF0ZWd5ID0gIm1pZyIKCltzZXR0aW5ncy5rdWJlbGV0LWRldmljZS1wbHVnaW5zLm52aWRpYS5taWcucHJvZmlsZV0KImExMDAuNDBnYiIgPSAiMWcuNWdiIgo=", "BlockDeviceMappings": [{"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 200, "VolumeType": "gp3", "DeleteOnTermination": true}}], "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}}' \
  --tag-specifications '[{"ResourceType": "launch-template", "Tags": [{"Key": "fracgpu-managed", "Value": "true"}, {"Key": "fracgpu-cluster", "Value": "ml-prod"}, {"Key": "fracgpu-pool", "Value": "gpu-br-mig"}]}]'

aws eks create-nodegroup \
  --region us-east-1 \
  --cluster-name ml-prod \
  --nodegroup-name gpu-br-mig \
  --scaling-config minSize=0,maxSize=4,desiredSize=0 \
  --subnets subnet-0aaaaaaaaaaaaaaa1 subnet-0bbbbbbbbbbbbbbb2 \
  --node-role arn:aws:iam::111122223333:role/EKSGpuNodeRole \
  --instance-types p4d.24xlarge \
  --ami-type BOTTLEROCKET_x86_64_NVIDIA \
  --capacity-type ON_DEMAND \
  --launch-template name=fracgpu-ml-prod-gpu-br-mig,version=1 \
  --labels '{"fracgpu.io/profile": "1g.5gb"}' \
  --taints '[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]' \
  --tags '{"k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu": "56", "fracgpu-managed": "true"}'
