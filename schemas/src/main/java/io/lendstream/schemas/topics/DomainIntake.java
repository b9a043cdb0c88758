package io.lendstream.schemas.topics;

import io.lendstream.core.id.DomainId;
import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A separate set of input topics for one group of writers, and the domains that its records may concern.
 *
 * @param name name of the group; the last part of its topics' names
 * @param domains domains that the group may write about; empty for all domains
 */
public record DomainIntake(String name, SortedSet<DomainId> domains) {
    /** Separates the domains of an intake. */
    static final String AND = "+";

    /** For every domain. */
    static final String EVERY = "*";

    /** A topic's name has at most 249 characters, prefix included. */
    private static final int LONGEST = 30;

    public DomainIntake {
        check(name);
        domains = Collections.unmodifiableSortedSet(new TreeSet<>(domains));
    }

    /**
     * Checks an intake's name.
     *
     * @throws IllegalArgumentException if topics cannot be named after it
     */
    public static void check(String name) {
        if (!name.matches("[a-z0-9]([a-z0-9-]*[a-z0-9])?") || name.length() > LONGEST || name.endsWith("-dlq")) {
            throw new IllegalArgumentException(
                    "the name of an intake must be 1 to %d lower-case letters, digits and '-', must begin and end with a letter or digit, and must not end with -dlq, but was '%s'"
                            .formatted(LONGEST, name));
        }
    }

    /** Whether the intake may write about every domain. */
    public boolean isUnrestricted() {
        return domains.isEmpty();
    }

    public boolean covers(DomainId domain) {
        return domains.isEmpty() || domains.contains(domain);
    }

    /** The domains as the setting lists them: {@code east+west}. */
    public String domainList() {
        return domains.isEmpty() ? EVERY : domains.stream().map(DomainId::value).collect(Collectors.joining(AND));
    }

    @Override
    public String toString() {
        return name + "=" + domainList();
    }
}
