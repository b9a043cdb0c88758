package io.lendstream.scheduler;

import io.lendstream.schemas.registry.RegistryException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import org.apache.kafka.common.KafkaException;

/** Tells failures of the broker, the registry or the network from failures that a record or a domain's state causes. */
final class InfrastructureFailure {
    private InfrastructureFailure() {}

    /** Whether the registry or the network failed, also where a serializer other than ours wraps what the network threw. */
    static boolean isOfRegistry(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof RegistryException
                    || at instanceof SocketException
                    || at instanceof SocketTimeoutException
                    || at instanceof UnknownHostException
                    || at instanceof HttpTimeoutException) {
                return true;
            }
        }
        return false;
    }

    /** Whether anything outside this process failed, so that the failure says nothing of a record or of a domain. */
    static boolean is(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof KafkaException) {
                return true;
            }
        }
        return isOfRegistry(failure);
    }
}
