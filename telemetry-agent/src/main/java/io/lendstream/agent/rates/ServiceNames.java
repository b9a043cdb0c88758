package io.lendstream.agent.rates;

import io.lendstream.core.id.ServiceId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which service a series is of.
 *
 * @param byLabel services by what servers call them
 * @param otherwise the service of series whose server does not say; such series are passed over where it is empty
 * @param onlyNamed whether what is not in {@code byLabel} is passed over; otherwise services are called as servers call them
 * @param always the service of all series, whatever servers call them; empty where the other three are to be asked
 */
public record ServiceNames(
        Map<String, ServiceId> byLabel, Optional<ServiceId> otherwise, boolean onlyNamed, Optional<ServiceId> always) {
    /** Servers' own names. */
    public static final ServiceNames AS_LABELLED = new ServiceNames(Map.of(), Optional.empty(), false);

    public ServiceNames {
        byLabel = Map.copyOf(byLabel);
    }

    /** Services by what servers call them. */
    public ServiceNames(Map<String, ServiceId> byLabel, Optional<ServiceId> otherwise, boolean onlyNamed) {
        this(byLabel, otherwise, onlyNamed, Optional.empty());
    }

    /** All series are of one service. */
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

    /** The service that a server calls so. */
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
