package io.lendstream.schemas.registry;

import java.util.List;

/** The registry's verdict on a new schema, with its reasons if it gives any. */
public record Compatibility(boolean compatible, List<String> messages) {
    public Compatibility {
        messages = List.copyOf(messages);
    }
}
