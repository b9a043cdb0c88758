package io.lendstream.core.id;

/**
 * The name by which agents show a tenant as the user of a GPU: {@code lendstream/DOMAIN/job/NAME} or {@code
 * lendstream/DOMAIN/service/NAME}. A {@code /} within a domain or a name is written {@code %2F}, and {@code %} is
 * written {@code %25}. Replicas have the name of their service; the GPU tells them apart.
 */
public final class TenantUser {
    private static final String START = "lendstream/";

    private TenantUser() {}

    /** The name of a tenant of a domain. */
    public static String of(DomainId domain, Tenant tenant) {
        return tenant.match(Tenant.Cases.of(
                job -> of(domain, "job", job.job().value()),
                service -> of(domain, "service", service.service().value())));
    }

    /** Whether a user of a GPU has the name of a tenant, of any domain. */
    public static boolean isTenant(String user) {
        return user.startsWith(START);
    }

    private static String of(DomainId domain, String kind, String name) {
        return START + escaped(domain.value()) + "/" + kind + "/" + escaped(name);
    }

    private static String escaped(String part) {
        return part.replace("%", "%25").replace("/", "%2F");
    }
}
