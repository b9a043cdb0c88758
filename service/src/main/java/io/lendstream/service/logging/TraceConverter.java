package io.lendstream.service.logging;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import io.lendstream.service.text.Printable;
import org.jspecify.annotations.Nullable;

/** {@code %trace}: as {@code %ex}, with every message of an exception in one line. */
public final class TraceConverter extends ThrowableProxyConverter {
    /** For Logback. */
    public TraceConverter() {}

    @Override
    public String convert(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        return thrown == null ? "" : throwableProxyToString(new OneLine(thrown));
    }

    /** An exception whose messages hold no line feeds. */
    private record OneLine(IThrowableProxy thrown) implements IThrowableProxy {
        @Override
        public @Nullable String getMessage() {
            String message = thrown.getMessage();
            return message == null ? null : Printable.line(message);
        }

        @Override
        public String getClassName() {
            return thrown.getClassName();
        }

        @Override
        public StackTraceElementProxy[] getStackTraceElementProxyArray() {
            return thrown.getStackTraceElementProxyArray();
        }

        @Override
        public int getCommonFrames() {
            return thrown.getCommonFrames();
        }

        @Override
        public @Nullable IThrowableProxy getCause() {
            IThrowableProxy cause = thrown.getCause();
            return cause == null ? null : new OneLine(cause);
        }

        @Override
        public IThrowableProxy[] getSuppressed() {
            IThrowableProxy[] suppressed = thrown.getSuppressed();
            IThrowableProxy[] oneLine = new IThrowableProxy[suppressed.length];
            for (int i = 0; i < suppressed.length; i++) {
                oneLine[i] = new OneLine(suppressed[i]);
            }
            return oneLine;
        }

        @Override
        public boolean isCyclic() {
            return thrown.isCyclic();
        }
    }
}
