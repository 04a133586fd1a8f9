"""How a launch template and a node group go together, and what EKS refuses in the pair.

Texts: terraform-aws-modules/terraform-aws-eks#1386, #3459, rancher/eks-operator#161, eksctl-io/eksctl#3104,
crossplane-contrib/provider-upjet-aws#866, hashicorp/terraform-provider-aws#18025; what a template may not have:
https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from fracgpu.sandbox.aws.backend import NoTemplate, Template
from fracgpu.sandbox.eks.call import Call
from fracgpu.sandbox.eks.errors import invalid, invalid_request
from fracgpu.sandbox.world import Json

NO_TEMPLATE = "Launch template details can't be null for Custom ami type node group"


def resolve(call: Call, spec: Json) -> Template:
    """The template that a launch template specification means. Raises EksError."""
    if bool(spec.get("id")) == bool(spec.get("name")):
        raise invalid("Either provide launch template ID or launch template name in the request.")
    try:
        template = call.aws.template(call.region, spec)
    except NoTemplate as missing:
        raise invalid(str(missing)) from missing
    _content(template)
    return template


def agree(body: Json, template: Template | None) -> None:
    """What may be said only once: in the group or in its template. Raises EksError."""
    _market(body, template)
    if template is None:
        if body.get("amiType") == "CUSTOM":
            raise invalid(NO_TEMPLATE)
        return
    if body.get("diskSize") is not None:
        raise invalid("Disk size must be specified within the launch template.")
    if body.get("remoteAccess"):
        raise invalid("Remote access configuration cannot be specified with a launch template.")
    if body.get("instanceTypes") and template.data.get("InstanceType"):
        raise invalid_request("Cannot specify instance types in launch template and API request")
    _image(body, template)


def _market(body: Json, template: Template | None) -> None:
    """Spot is the group's to say; capacity blocks need both, and their machine in the template.

    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    """
    market = (template.data if template else {}).get("InstanceMarketOptions", {}).get("MarketType")
    if body.get("capacityType") != "CAPACITY_BLOCK":
        if market:
            raise invalid("Instance market options are not supported with the launch template.")
        return
    if market != "capacity-block":
        raise invalid("CAPACITY_BLOCK needs a launch template with the market type capacity-block")
    if body.get("instanceTypes") or not (template and template.data.get("InstanceType")):
        raise invalid("CAPACITY_BLOCK takes its one instance type from the launch template")


def _image(body: Json, template: Template) -> None:
    if not template.data.get("ImageId"):
        if body.get("amiType") == "CUSTOM":
            raise invalid("An image id must be specified within the launch template for Custom ami type node group")
        return
    if body.get("amiType") not in (None, "CUSTOM"):
        raise invalid(
            "You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your launch template."
        )
    if body.get("version"):
        raise invalid(
            "You cannot specify a kubernetes version to use when specifying an image id to use within the launch "
            "template."
        )
    if body.get("releaseVersion"):
        raise invalid(
            "You cannot specify a release version to use when specifying an image id to use within the launch template."
        )


def _content(template: Template) -> None:
    data = template.data
    if data.get("IamInstanceProfile"):
        raise invalid_request(
            f"Launch template {template.name} should not specify an instance profile. The noderole in your request "
            "will be used to construct an instance profile."
        )
    if any(card.get("SubnetId") for card in data.get("NetworkInterfaces", [])):
        raise invalid_request(f"Launch template {template.name} should not specify subnets in network interfaces.")
    for member in ("InstanceInitiatedShutdownBehavior", "HibernationOptions"):
        if data.get(member):
            raise invalid_request(f"Launch template {template.name} should not specify {member}.")
