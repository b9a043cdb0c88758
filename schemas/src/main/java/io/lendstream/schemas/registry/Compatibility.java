package io.lendstream.schemas.registry;

import java.util.List;

/** The registry's verdict on a schema that somebody would like to register, with its reasons where it gives any. */
public record Compatibility(boolean compatible, List<String> messages) {
    public Compatibility {
        messages = List.copyOf(messages);
    }
}
