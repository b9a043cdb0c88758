package io.lendstream.service.settings;

/** Reports invalid settings at the start: one line with name, value, bound and way out. */
public final class SettingsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SettingsException(String message) {
        super(message);
    }

    public SettingsException(String message, Throwable cause) {
        super(message, cause);
    }
}
