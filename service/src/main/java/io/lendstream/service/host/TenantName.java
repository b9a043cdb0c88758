package io.lendstream.service.host;

import io.lendstream.core.event.Limits;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.id.TenantUser;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The {@linkplain TenantUser name of a tenant} as its processes carry it. */
public final class TenantName {
    /** The environment variable in which the processes of a tenant carry its name. */
    public static final String VARIABLE = "LENDSTREAM_TENANT";

    private static final Pattern NAME = Pattern.compile("lendstream/([^/]+)/(?:job|service)/([^/]+)");

    private TenantName() {}

    /** The name of a tenant of a domain. */
    public static String of(DomainId domain, Tenant tenant) {
        return TenantUser.of(domain, tenant);
    }

    /** A text from an environment, if it is such a name. Any process may set the variable to any text. */
    public static Optional<String> checked(String text) {
        Matcher parts = NAME.matcher(text);
        return parts.matches() && isName(parts.group(1)) && isName(parts.group(2))
                ? Optional.of(text)
                : Optional.empty();
    }

    private static boolean isName(String escaped) {
        try {
            Limits.name("a tenant", escaped.replace("%2F", "/").replace("%25", "%"));
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
