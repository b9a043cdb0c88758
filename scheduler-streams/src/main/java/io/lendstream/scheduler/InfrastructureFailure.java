package io.lendstream.scheduler;

import io.lendstream.schemas.registry.RegistryException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import org.apache.kafka.common.KafkaException;

/** Separates failures of the broker, registry or network from those caused by a record or a domain's state. */
final class InfrastructureFailure {
    private InfrastructureFailure() {}

    /** Whether the registry or the network failed, including errors wrapped by a foreign serializer. */
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

    /** Whether the failure came from outside this process, so that no record or domain is at fault. */
    static boolean is(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof KafkaException) {
                return true;
            }
        }
        return isOfRegistry(failure);
    }
}
