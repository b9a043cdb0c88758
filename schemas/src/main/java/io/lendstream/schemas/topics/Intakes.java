package io.lendstream.schemas.topics;

import io.lendstream.core.id.DomainId;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The intakes of a site by name: {@code team-a=east+west,oncall=*}.
 *
 * @param byName all intakes by name
 */
public record Intakes(SortedMap<String, DomainIntake> byName) {
    /** No intakes: only the base topics. */
    public static final Intakes NONE = new Intakes(new TreeMap<>());

    private static final String SEPARATOR = ",";

    public Intakes {
        byName = Collections.unmodifiableSortedMap(new TreeMap<>(byName));
    }

    /**
     * Reads the text form; a blank text means no intakes.
     *
     * @throws IllegalArgumentException if an entry is not {@code NAME=DOMAIN[+DOMAIN...]}, or a name is used twice
     */
    public static Intakes parse(String text) {
        SortedMap<String, DomainIntake> byName = new TreeMap<>();
        for (String entry : Arrays.asList(text.split(SEPARATOR, -1))) {
            if (entry.isBlank()) {
                continue;
            }
            DomainIntake intake = entry(entry.strip());
            if (byName.put(intake.name(), intake) != null) {
                throw new IllegalArgumentException(
                        "intake %s is listed twice; list all its domains in one entry, as in %s=east+west"
                                .formatted(intake.name(), intake.name()));
            }
        }
        return new Intakes(byName);
    }

    private static DomainIntake entry(String entry) {
        int equals = entry.indexOf('=');
        if (equals < 1 || equals == entry.length() - 1) {
            throw new IllegalArgumentException(
                    "'%s' is not an intake; write NAME=DOMAIN[+DOMAIN...], such as team-a=east+west, or NAME=* for every domain"
                            .formatted(entry));
        }
        String name = entry.substring(0, equals).strip();
        String listed = entry.substring(equals + 1).strip();
        TreeSet<DomainId> domains = new TreeSet<>();
        if (!listed.equals(DomainIntake.EVERY)) {
            for (String domain : Arrays.asList(listed.split("\\" + DomainIntake.AND, -1))) {
                if (domain.isBlank() || domain.strip().equals(DomainIntake.EVERY)) {
                    throw new IllegalArgumentException(
                            "intake %s lists '%s', but a list must be domains joined by '+', or '*' alone for every domain"
                                    .formatted(name, listed));
                }
                domains.add(new DomainId(domain.strip()));
            }
        }
        return new DomainIntake(name, domains);
    }

    public boolean isEmpty() {
        return byName.isEmpty();
    }

    public Collection<DomainIntake> all() {
        return byName.values();
    }

    public Optional<DomainIntake> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** Whether a restricted intake names the domain, so that its writers are separate from those of other domains. */
    public boolean isolates(DomainId domain) {
        return byName.values().stream().anyMatch(intake -> intake.domains().contains(domain));
    }

    /** The intakes' names, for messages. */
    public List<String> names() {
        return List.copyOf(byName.keySet());
    }

    /** The text form; equal intakes have equal texts. */
    @Override
    public String toString() {
        return byName.values().stream().map(DomainIntake::toString).collect(Collectors.joining(SEPARATOR));
    }
}
