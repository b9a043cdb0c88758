package io.lendstream.forecaster;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.Intakes;
import java.io.Serializable;

/**
 * The key of a service's forecaster, declaration and forecasts. It is the service ID, as in versions before intakes.
 * If an intake is restricted to the service's domain, the domain precedes the ID, so that equal IDs in two domains
 * are different services.
 */
final class ServiceKey implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final String BETWEEN = "/";
    /** No domain contains this mark: a percent sign in a domain is followed by two digits. */
    private static final String SHARED = "%~";

    private final String text;
    private final transient Intakes intakes;

    ServiceKey(Intakes intakes) {
        this.text = intakes.toString();
        this.intakes = intakes;
    }

    String of(DomainId domain, ServiceId service) {
        return of(domain, service.value());
    }

    String of(DomainId domain, String service) {
        return intakes.isolates(domain) ? escaped(domain) + BETWEEN + service : ofShared(service);
    }

    /** The key of a service in a domain without its own intake, escaped if its ID looks like a key with a domain. */
    String ofShared(String service) {
        return looksIsolated(service) ? SHARED + service : service;
    }

    private boolean looksIsolated(String service) {
        return service.contains(BETWEEN)
                && intakes.all().stream()
                        .flatMap(intake -> intake.domains().stream())
                        .anyMatch(domain -> service.startsWith(escaped(domain) + BETWEEN));
    }

    /** The end of the domain is clear even if names contain the mark. */
    private static String escaped(DomainId domain) {
        return domain.value().replace("%", "%25").replace(BETWEEN, "%2F");
    }

    private Object readResolve() {
        return new ServiceKey(Intakes.parse(text));
    }
}
