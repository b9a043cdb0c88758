package io.lendstream.schemas.registry;

import org.jspecify.annotations.Nullable;

/** Reports that no registry answers now. The record may be valid, so the caller should retry later. */
public final class RegistryUnavailableException extends RegistryException {
    private static final long serialVersionUID = 1L;

    RegistryUnavailableException(String message, int status, int errorCode, @Nullable Throwable cause) {
        super(message, status, errorCode, cause);
    }
}
