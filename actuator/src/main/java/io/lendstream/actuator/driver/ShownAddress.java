package io.lendstream.actuator.driver;

import java.net.URI;

/** An address for logs and reports: without user and password, and without its query, which may contain a key. */
public final class ShownAddress {
    private static final String HIDDEN = "(hidden)";

    private ShownAddress() {}

    static String of(URI address) {
        if (address.getHost() == null) {
            return of(address.toString());
        }
        String login = address.getRawUserInfo() == null ? "" : HIDDEN + "@";
        String port = address.getPort() < 0 ? "" : ":" + address.getPort();
        String query = address.getRawQuery() == null ? "" : "?" + HIDDEN;
        return address.getScheme() + "://" + login + address.getHost() + port + address.getRawPath() + query;
    }

    /** The same for a text that may not be a valid address. */
    public static String of(String text) {
        return text.replaceAll("(?<=//).*@", HIDDEN + "@").replaceAll("\\?.*", "?" + HIDDEN);
    }
}
