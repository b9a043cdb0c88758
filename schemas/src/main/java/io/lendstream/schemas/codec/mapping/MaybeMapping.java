package io.lendstream.schemas.codec.mapping;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Maps an optional value. */
record MaybeMapping(Mapping element) implements Mapping {
    @Override
    public @Nullable Object encode(Object value) {
        return ((Optional<?>) value).map(element::encode).orElse(null);
    }

    @Override
    public Object decode(@Nullable Object wire) {
        return Optional.ofNullable(wire).map(element::decode);
    }
}
