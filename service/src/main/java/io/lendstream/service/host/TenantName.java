package io.lendstream.service.host;

import io.lendstream.core.event.Limits;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Tenant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a tenant as a GPU's user: {@code lendstream/DOMAIN/job/NAME} or {@code lendstream/DOMAIN/service/NAME}. A
 * {@code /} within a domain or a name is written {@code %2F}, and {@code %} is written {@code %25}. Replicas have the
 * name of their service; the GPU tells them apart.
 */
public final class TenantName {
    /** The environment variable in which the processes of a tenant carry its name. */
    public static final String VARIABLE = "LENDSTREAM_TENANT";

    private static final Pattern NAME = Pattern.compile("lendstream/([^/]+)/(?:job|service)/([^/]+)");

    private TenantName() {}

    public static String of(DomainId domain, Tenant tenant) {
        return tenant.match(Tenant.Cases.of(
                job -> of(domain, "job", job.job().value()),
                service -> of(domain, "service", service.service().value())));
    }

    private static String of(DomainId domain, String kind, String name) {
        return "lendstream/%s/%s/%s".formatted(escaped(domain.value()), kind, escaped(name));
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

    private static String escaped(String part) {
        return part.replace("%", "%25").replace("/", "%2F");
    }
}
