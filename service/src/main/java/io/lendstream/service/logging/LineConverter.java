package io.lendstream.service.logging;

import ch.qos.logback.classic.pattern.MessageConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.lendstream.service.text.Printable;

/** {@code %line}: the message of an event in one line, whatever the names in it. */
public final class LineConverter extends MessageConverter {
    /** For Logback. */
    public LineConverter() {}

    @Override
    public String convert(ILoggingEvent event) {
        return Printable.line(String.valueOf(super.convert(event)));
    }
}
