package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;

/** Maps a text; a text that is too long is cut. */
record TextMapping(int most, FieldBound guard) implements Mapping {
    @Override
    public Object encode(Object value) {
        return value;
    }

    @Override
    public Object decode(Object wire) {
        String text = wire.toString();
        if (text.length() <= most) {
            return text;
        }
        guard.cut(text.length(), most);
        return Limits.cut(text, most);
    }
}
