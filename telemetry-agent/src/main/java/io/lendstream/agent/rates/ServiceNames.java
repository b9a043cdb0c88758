package io.lendstream.agent.rates;

import io.lendstream.core.id.ServiceId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Maps series to services.
 *
 * @param byLabel services by servers' own names
 * @param otherwise service of series without a name; empty to ignore such series
 * @param onlyNamed whether names outside {@code byLabel} are ignored; otherwise they are used as service names
 * @param always the service of all series, whatever their names; empty to use the other three
 */
public record ServiceNames(
        Map<String, ServiceId> byLabel, Optional<ServiceId> otherwise, boolean onlyNamed, Optional<ServiceId> always) {
    /** Servers' own names. */
    public static final ServiceNames AS_LABELLED = new ServiceNames(Map.of(), Optional.empty(), false);

    public ServiceNames {
        byLabel = Map.copyOf(byLabel);
    }

    /** Maps servers' names to services. */
    public ServiceNames(Map<String, ServiceId> byLabel, Optional<ServiceId> otherwise, boolean onlyNamed) {
        this(byLabel, otherwise, onlyNamed, Optional.empty());
    }

    /** All series belong to one service. */
    public static ServiceNames only(ServiceId service) {
        return new ServiceNames(Map.of(), Optional.empty(), false, Optional.of(service));
    }

    Optional<ServiceId> of(Point point, List<String> labels) {
        if (always.isPresent()) {
            return always;
        }
        return labels.stream()
                .map(point::label)
                .filter(value -> !value.isBlank())
                .findFirst()
                .map(this::called)
                .orElse(otherwise);
    }

    /** The service of a server's name. */
    Optional<ServiceId> called(String label) {
        if (always.isPresent()) {
            return always;
        }
        ServiceId named = byLabel.get(label);
        if (named != null) {
            return Optional.of(named);
        }
        return onlyNamed || label.isBlank() || label.length() > 249
                ? Optional.empty()
                : Optional.of(new ServiceId(label));
    }
}
