package io.lendstream.benchmarks.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.apache.maven.artifact.versioning.ComparableVersion;

/**
 * A published vulnerability, with the versions of Maven packages that have it.
 *
 * @param ids its own and its aliases, such as a GHSA and a CVE
 * @see <a href="https://ossf.github.io/osv-schema/">the format</a>
 */
record Advisory(List<String> ids, String summary, List<Affected> affected) {
    private static final String MAVEN = "Maven";

    Advisory {
        ids = List.copyOf(ids);
        affected = List.copyOf(affected);
    }

    /** A package, with single versions and ranges of versions; one of either is enough. */
    private record Affected(String name, List<String> versions, List<Range> ranges) {
        boolean has(String version) {
            return versions.contains(version) || ranges.stream().anyMatch(range -> range.has(version));
        }
    }

    /** Events in the order of versions: from each {@code introduced} up to what ends it. */
    private record Range(List<Event> events) {
        boolean has(String version) {
            boolean affected = false;
            var wanted = new ComparableVersion(version);
            for (Event event : events) {
                int order = wanted.compareTo(new ComparableVersion(event.version()));
                switch (event.kind()) {
                    case "introduced" -> affected |= event.version().equals("0") || order >= 0;
                    case "fixed" -> affected &= order < 0;
                    case "last_affected" -> affected &= order <= 0;
                    default -> {} // limits are for git
                }
            }
            return affected;
        }
    }

    private record Event(String kind, String version) {}

    /** Of a file of the database; empty where it is withdrawn or about nothing of Maven's. */
    static Optional<Advisory> of(JsonNode json) {
        List<Affected> affected = StreamSupport.stream(json.path("affected").spliterator(), false)
                .filter(each -> each.at("/package/ecosystem").asText().equals(MAVEN))
                .map(Advisory::affected)
                .toList();
        if (affected.isEmpty() || json.hasNonNull("withdrawn")) {
            return Optional.empty();
        }
        var ids = new ArrayList<String>();
        ids.add(json.path("id").asText());
        json.path("aliases").forEach(alias -> ids.add(alias.asText()));
        String summary = json.path("summary").asText();
        return Optional.of(new Advisory(
                ids,
                summary.isEmpty()
                        ? json.path("details").asText().lines().findFirst().orElse("")
                        : summary,
                affected));
    }

    boolean affects(Component component) {
        return affected.stream()
                .anyMatch(each -> each.name().equals(component.name()) && each.has(component.version()));
    }

    private static Affected affected(JsonNode json) {
        var versions = new ArrayList<String>();
        json.path("versions").forEach(version -> versions.add(version.asText()));
        var ranges = new ArrayList<Range>();
        for (JsonNode range : json.path("ranges")) {
            if (!range.path("type").asText().equals("GIT")) {
                var events = new ArrayList<Event>();
                range.path("events")
                        .forEach(event -> event.properties()
                                .forEach(each -> events.add(
                                        new Event(each.getKey(), each.getValue().asText()))));
                events.sort((one, other) -> order(one).compareTo(order(other)));
                ranges.add(new Range(List.copyOf(events)));
            }
        }
        return new Affected(json.at("/package/name").asText(), List.copyOf(versions), List.copyOf(ranges));
    }

    private static ComparableVersion order(Event event) {
        return new ComparableVersion(event.version());
    }
}
