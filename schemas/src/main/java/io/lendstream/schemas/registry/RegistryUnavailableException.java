package io.lendstream.schemas.registry;

import org.jspecify.annotations.Nullable;

/** No registry could answer now. The record at hand may be sound: whoever sees this tries again later. */
public final class RegistryUnavailableException extends RegistryException {
    private static final long serialVersionUID = 1L;

    RegistryUnavailableException(String message, int status, int errorCode, @Nullable Throwable cause) {
        super(message, status, errorCode, cause);
    }
}
