"""GKE over gRPC: google.container.v1.ClusterManager as the SDK calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fracgpu.sandbox.gke.calls import CALLS, LostAnswer, answer
from fracgpu.sandbox.gke.errors import GkeError
from fracgpu.sandbox.gke.rest import register
from fracgpu.sandbox.world import World

if TYPE_CHECKING:
    import grpc

SERVICE = "/google.container.v1.ClusterManager/"


def grpc_handlers(world: World) -> list[grpc.GenericRpcHandler]:
    """The handlers of the sandbox's gRPC server. Google's library is imported with the first call."""
    import grpc

    register(world)

    class ClusterManager(grpc.GenericRpcHandler):  # type: ignore[misc]
        """Answers the calls that the sandbox carries out; others are UNIMPLEMENTED."""

        def service(self, handler_call_details: Any) -> Any:
            service, _, call = str(handler_call_details.method).rpartition("/")
            return _method(world, call) if f"{service}/" == SERVICE and call in CALLS else None

    return [ClusterManager()]


def _method(world: World, call: str) -> Any:
    import grpc

    from fracgpu.sandbox.gke import messages

    response = messages.response_class(call)

    def serve(request: Any, context: Any) -> Any:
        try:
            return messages.to_message(response, answer(world, call, messages.to_json(request)))
        except GkeError as error:
            _abort(context, error)
        except LostAnswer:
            # What a client sees of a connection that breaks while it waits.
            context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")

    return grpc.unary_unary_rpc_method_handler(
        serve,
        request_deserializer=messages.request_class(call).FromString,
        response_serializer=response.SerializeToString,
    )


def _abort(context: Any, error: GkeError) -> None:
    from grpc_status import rpc_status

    from fracgpu.sandbox.gke import messages

    context.abort_with_status(rpc_status.to_status(messages.status_message(error)))
