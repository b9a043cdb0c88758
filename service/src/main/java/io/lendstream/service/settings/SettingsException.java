package io.lendstream.service.settings;

/** Settings that a service cannot start with: one line with the name, the value, the bound and the way out. */
public final class SettingsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SettingsException(String message) {
        super(message);
    }

    public SettingsException(String message, Throwable cause) {
        super(message, cause);
    }
}
