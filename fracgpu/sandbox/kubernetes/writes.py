"""POST, PUT, PATCH and DELETE."""

from __future__ import annotations

import secrets

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.kubernetes import below, patch, resources, status
from fracgpu.sandbox.kubernetes import request as asked
from fracgpu.sandbox.kubernetes.apply import apply, track_update
from fracgpu.sandbox.kubernetes.controllers.owners import SUFFIX
from fracgpu.sandbox.kubernetes.decoding import decode, refused
from fracgpu.sandbox.kubernetes.defaulting import complete, with_texts
from fracgpu.sandbox.kubernetes.life import Life
from fracgpu.sandbox.kubernetes.reads import NEEDS_A_CONTAINER, json_bytes, nothing_runs, scale_of
from fracgpu.sandbox.kubernetes.request import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, PATCHES, Target
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.reviews import review
from fracgpu.sandbox.kubernetes.selectors import field_selector, label_selector
from fracgpu.sandbox.kubernetes.store import Key, encode, timestamp
from fracgpu.sandbox.kubernetes.validation import check_unchanged, validate
from fracgpu.sandbox.world import Json

IMMORTAL = ("default", "kube-system", "kube-public")
IMMUTABLE = ("uid", "creationTimestamp", "name", "namespace")


def create(life: Life, target: Target, request: Request) -> Response:
    if target.subresource:
        return below.create(life, target, request)
    body = asked.body_of(request)
    resource = target.resource
    if resource.verbs == ("create",):
        return json_bytes(encode(review(target, body)), 201)
    body = asked.read(request, resource, _headed(resource, body), lambda why: refused(resource, why))
    body = _checked(life, target, body)
    body = track_update(None, body, asked.manager(request))
    if asked.dry_run(request):
        _must_be_free(life, resource, body)
        return json_bytes(encode(body), 201)
    return json_bytes(encode(life.store.create(resource, body)), 201)


def _must_be_free(life: Life, resource: Resource, body: Json) -> None:
    metadata = body["metadata"]
    if life.store.find(resource, Key(metadata.get("namespace", ""), metadata["name"])):
        raise status.already_exists(resource, metadata["name"])


def _checked(life: Life, target: Target, body: Json) -> Json:
    """The new object, named, completed and valid."""
    resource = target.resource
    metadata = {name: value for name, value in body["metadata"].items() if name not in ("resourceVersion", "uid")}
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + "".join(secrets.choice(SUFFIX) for _ in range(5))
    if resource.namespaced:
        metadata["namespace"] = _namespace(life, target, metadata)
    body = {**body, "metadata": metadata}
    if "status" in resource.subresources:
        # A status is not the client's to make: `kubectl run` sends an empty one.
        body.pop("status", None)
    validate(resource, body)
    return complete(resource, body)


def _headed(resource: Resource, body: Json) -> Json:
    kind, version = body.get("kind", resource.kind), body.get("apiVersion", resource.api_version)
    if (kind, version) != (resource.kind, resource.api_version):
        given, wanted = f"{version}, Kind={kind}", f"{resource.api_version}, Kind={resource.kind}"
        raise status.bad_request(f"the API version in the data ({given}) does not match the expected ({wanted})")
    return {"apiVersion": version, "kind": kind, **body, "metadata": body.get("metadata") or {}}


def _namespace(life: Life, target: Target, metadata: Json) -> str:
    said = metadata.get("namespace") or target.namespace
    if target.namespace is None or said != target.namespace:
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if not life.store.find(resources.NAMESPACES, Key("", target.namespace)):
        raise status.not_found(resources.NAMESPACES, target.namespace)
    return target.namespace


def update(life: Life, target: Target, request: Request) -> Response:
    """PUT: the whole object, or a subresource of it."""
    before = life.store.get(target.resource, target.key)
    if target.subresource in NEEDS_A_CONTAINER:
        return nothing_runs(life, target)
    body = asked.body_of(request)
    if target.subresource == "scale":
        return _rescale(life, target, before, body, request)
    resource = target.resource
    after = asked.read(request, resource, _headed(resource, body), lambda why: refused(resource, why))
    return _store(life, target, before, after, request)


def _rescale(life: Life, target: Target, before: Json, body: Json, request: Request) -> Response:
    wanted = (body.get("spec") or {}).get("replicas", 0) if isinstance(body.get("spec") or {}, dict) else None
    if not isinstance(wanted, int) or isinstance(wanted, bool):
        raise status.bad_request('Scale in version "v1" cannot be handled as a Scale: spec.replicas is not a number')
    after = {**before, "spec": {**before["spec"], "replicas": wanted}}
    _store(life, Target(target.resource, target.namespace, target.name), before, after, request)
    return json_bytes(encode(scale_of(life.store.get(target.resource, target.key))))


def patch_(life: Life, target: Target, request: Request) -> Response:
    kind = request.mimetype
    if kind not in PATCHES:
        raise status.unsupported_media(PATCHES)
    if target.subresource in NEEDS_A_CONTAINER:
        return nothing_runs(life, target)
    if kind == APPLY_PATCH:
        return _apply(life, target, request)
    change = asked.any_body(request, PATCHES)
    before = life.store.get(target.resource, target.key)
    if target.subresource == "scale":
        return _rescale(life, target, before, patch.merge(scale_of(before), change), request)
    if kind == JSON_PATCH:
        after = patch.json_patch(before, change)
    elif not isinstance(change, dict):
        raise status.bad_request("error decoding patch: json: cannot unmarshal array into a map")
    else:
        after = patch.merge(before, change) if kind == MERGE_PATCH else patch.strategic(before, change)
    after = asked.read(request, target.resource, _headed(target.resource, after), asked.bad_patch(change))
    return _store(life, target, before, after, request)


def _store(life: Life, target: Target, before: Json, after: Json, request: Request) -> Response:
    """Keep the new version of an object, with what the client may not change as it was."""
    resource, metadata = target.resource, after.get("metadata") or {}
    said = metadata.get("resourceVersion")
    if said and said != before["metadata"]["resourceVersion"]:
        raise status.modified(resource, before["metadata"]["name"])
    _same_name(resource, before, metadata)
    after = _limited(target, before, after)
    validate(resource, after)
    after = complete(resource, after, before)
    check_unchanged(resource, after, before)
    after = track_update(before, after, asked.manager(request), target.subresource)
    if asked.dry_run(request):
        return json_bytes(encode(after))
    return json_bytes(encode(_keep(life, resource, after)))


def _keep(life: Life, resource: Resource, after: Json) -> Json:
    """Store a new version; one that waited for its last finalizer to go is gone with it."""
    kept = life.store.replace(resource, after)
    metadata = kept["metadata"]
    if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
        life.store.delete(resource, Key(metadata.get("namespace", ""), metadata["name"]))
    return kept


def _same_name(resource: Resource, before: Json, metadata: Json) -> None:
    for name in ("name", "namespace"):
        if metadata.get(name, before["metadata"].get(name)) != before["metadata"].get(name):
            field = f"metadata.{name}"
            text = f'Invalid value: "{metadata[name]}": field is immutable'
            raise status.invalid(resource, before["metadata"]["name"], [("FieldValueInvalid", field, text)])


def _limited(target: Target, before: Json, after: Json) -> Json:
    """Only the status through the status subresource, everything but the status otherwise."""
    if target.subresource == "status":
        return {**before, "status": after.get("status") or {}}
    kept = {name: before["metadata"][name] for name in IMMUTABLE if name in before["metadata"]}
    given = {name: value for name, value in (after.get("metadata") or {}).items() if name != "managedFields"}
    managed = before["metadata"].get("managedFields")
    metadata = {**given, **kept, **({"managedFields": managed} if managed else {})}
    body = {**after, "metadata": metadata}
    if "status" in target.resource.subresources:
        body.pop("status", None)
        if "status" in before:
            body["status"] = before["status"]
    return body


def _apply(life: Life, target: Target, request: Request) -> Response:
    """Server-side apply: creates what is not there."""
    if "fieldManager" not in request.args:
        raise status.invalid_options("fieldManager", "Required value: is required for apply patch")
    config = _headed(target.resource, asked.body_of(request))
    if config["metadata"].get("managedFields"):
        raise status.bad_request("metadata.managedFields must be nil")
    name = config["metadata"].setdefault("name", target.name)
    if name != target.name:
        raise status.bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")
    if target.resource.namespaced:
        config["metadata"]["namespace"] = _namespace(life, target, config["metadata"])
    read = decode(target.resource, config)
    if read.unknown:
        raise status.not_declared(_words(target, config), read.unknown)
    config = with_texts(read.body)
    before = life.store.find(target.resource, target.key)
    force = asked.flag(request.args, "force")
    after = apply(before, config, asked.manager(request), force=force, subresource=target.subresource)
    return _applied(life, target, before, after, request)


def _words(target: Target, config: Json) -> str:
    """The object as messages about server-side apply name it: `default/web; apps/v1, Kind=Deployment`."""
    name = f"{target.namespace}/{target.name}" if target.namespace else str(target.name)
    version = config["apiVersion"] if "/" in config["apiVersion"] else f"/{config['apiVersion']}"
    return f"{name}; {version}, Kind={config['kind']}"


def _applied(life: Life, target: Target, before: Json | None, after: Json, request: Request) -> Response:
    resource = target.resource
    asked.must_have(resource, decode(resource, after))
    validate(resource, after)
    after = complete(resource, after, before)
    check_unchanged(resource, after, before)
    if asked.dry_run(request):
        return json_bytes(encode(after), 200 if before else 201)
    if before is None:
        return json_bytes(encode(life.store.create(resource, after)), 201)
    return json_bytes(encode(_keep(life, resource, after)))


def delete(life: Life, target: Target, request: Request) -> Response:
    if target.name is None:
        return _delete_all(life, target, request)
    before = life.store.get(target.resource, target.key)
    options = asked.body_of(request) if request.mimetype == "application/json" and request.get_data() else {}
    wanted = (options.get("preconditions") or {}).get("uid")
    if wanted and wanted != before["metadata"]["uid"]:
        raise status.modified(target.resource, before["metadata"]["name"])
    if target.resource is resources.NAMESPACES and target.name in IMMORTAL:
        raise status.immortal(target.name)
    if asked.dry_run(request) or options.get("dryRun"):
        return json_bytes(encode(before))
    last = _remove(life, target.resource, target.key)
    if target.resource is resources.PODS or last["metadata"].get("finalizers"):
        return json_bytes(encode(last))
    return json_bytes(encode(status.success(target.resource, target.key.name, last["metadata"]["uid"])))


def _delete_all(life: Life, target: Target, request: Request) -> Response:
    found = list(life.store.entries(target.resource, target.namespace))
    if request.args.get("labelSelector"):
        test = label_selector(request.args["labelSelector"])
        found = [(key, entry) for key, entry in found if test(entry.object)]
    if request.args.get("fieldSelector"):
        test = field_selector(request.args["fieldSelector"])
        found = [(key, entry) for key, entry in found if test(entry.object)]
    if not asked.dry_run(request):
        for key, _ in found:
            _remove(life, target.resource, key)
    head = {"kind": target.resource.kind + "List", "apiVersion": target.resource.api_version, "metadata": {}}
    return json_bytes(encode({**head, "items": [entry.object for _, entry in found]}))


def _remove(life: Life, resource: Resource, key: Key) -> Json:
    """Gone at once, unless a finalizer holds it; a namespace takes all that is in it along."""
    body = life.store.get(resource, key)
    if body["metadata"].get("finalizers"):
        metadata = {**body["metadata"], "deletionTimestamp": timestamp()}
        return life.store.replace(resource, {**body, "metadata": metadata})
    if resource is resources.NAMESPACES:
        for other in life.kinds.every():
            for inner, _ in list(life.store.entries(other, key.name)) if other.namespaced else ():
                life.store.delete(other, inner)
    return life.store.delete(resource, key)
