package io.lendstream.forecaster;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.Intakes;
import java.io.Serializable;

/**
 * What a service's forecaster, declaration and forecasts are kept under: its ID, as before there were intakes; with its domain in
 * front where an intake is restricted to that domain, so that a service of the same ID in another domain is another one.
 */
final class ServiceKey implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final String BETWEEN = "/";
    /** No domain is written so: a percent sign in it is followed by two digits. */
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

    /** Of a service in a domain without an intake of its own, also where its ID looks like one in a domain that has one. */
    String ofShared(String service) {
        return looksIsolated(service) ? SHARED + service : service;
    }

    private boolean looksIsolated(String service) {
        return service.contains(BETWEEN)
                && intakes.all().stream()
                        .flatMap(intake -> intake.domains().stream())
                        .anyMatch(domain -> service.startsWith(escaped(domain) + BETWEEN));
    }

    /** Where the domain ends is clear even if names have the mark between them. */
    private static String escaped(DomainId domain) {
        return domain.value().replace("%", "%25").replace(BETWEEN, "%2F");
    }

    private Object readResolve() {
        return new ServiceKey(Intakes.parse(text));
    }
}
