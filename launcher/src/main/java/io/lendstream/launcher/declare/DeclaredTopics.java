package io.lendstream.launcher.declare;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Origin;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.operation.TopicScan;
import io.lendstream.schemas.topics.DomainIntake;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.time.TimeMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The objects that the topics of a cluster have. */
final class DeclaredTopics {
    private final Cluster cluster;
    private final TopicScan reading;
    private final Map<DeclaredKind<?>, SortedMap<String, ? extends Written<?>>> newest = new HashMap<>();

    /**
     * An object in a topic.
     *
     * @param origin the place of its newest record
     * @param written when the broker appended the record
     */
    record Written<T>(T value, Origin origin, Instant written) {
        /** Whether it is in a topic. */
        boolean isIn(String topic) {
            return origin.topic().equals(topic);
        }
    }

    private DeclaredTopics(Cluster cluster, TopicScan reading) {
        this.cluster = cluster;
        this.reading = reading;
    }

    /**
     * Reads the topics of some kinds; fails unless a broker has them. With the setting {@code intake} these are the
     * topics of that intake.
     *
     * @param progress receives a line every two seconds while topics are read
     */
    static DeclaredTopics read(Cluster site, Collection<DeclaredKind<?>> kinds, Consumer<String> progress) {
        TopicCatalogue topics = site.topics().writingFor(site.settings().get(CommonKeys.INTAKE));
        Cluster cluster = new Cluster(site.kafka(), topics, site.patience(), site.settings());
        List<Topic<?>> needed = new ArrayList<>();
        kinds.forEach(kind -> needed.add(kind.topic()));
        if (site.settings().get(CommonKeys.TIME) == TimeMode.VIRTUAL) {
            needed.add(TopicCatalogue.PROGRESS);
        }
        Connection.check(cluster.kafka(), topics, needed, cluster.patience());
        DeclaredTopics read = new DeclaredTopics(cluster, new TopicScan(cluster, progress));
        read.reading.all("declarations", reader -> kinds.forEach(kind -> read.hand(reader, kind)));
        return read;
    }

    private <T extends Event> void hand(RecordReader reader, DeclaredKind<T> kind) {
        SortedMap<String, Written<T>> ofKind = new TreeMap<>();
        newest.put(kind, ofKind);
        reader.handing(
                kind.topic(),
                received -> received.value()
                        .ifPresentOrElse(
                                value -> ofKind.merge(
                                        received.key(),
                                        new Written<>(value, received.origin(), received.written()),
                                        DeclaredTopics::later),
                                () -> ofKind.computeIfPresent(
                                        received.key(),
                                        (name, known) ->
                                                known.isIn(received.origin().topic()) ? null : known)));
    }

    /** The newer of two records: by its place in a topic, or by its time where intakes have topics of their own. */
    private static <T> Written<T> later(Written<T> known, Written<T> next) {
        return known.isIn(next.origin().topic()) || !next.written().isBefore(known.written()) ? next : known;
    }

    /** The cluster, with the topics that are written to. */
    Cluster cluster() {
        return cluster;
    }

    /** The time of a new record. */
    Instant now() {
        return reading.now();
    }

    /** The intake whose topics these are, if the site describes it. */
    Optional<DomainIntake> intake() {
        return cluster.topics().own().flatMap(cluster.topics().intakes()::find);
    }

    /** Whether the topics of all writers were read, and not those of one intake. */
    boolean seesAll() {
        return cluster.topics().own().isEmpty();
    }

    /** The newest record of each declared object of a kind, by name; none of a kind whose topic was not read. */
    <T extends Event> SortedMap<String, Written<T>> newest(DeclaredKind<T> kind) {
        SortedMap<String, Written<T>> declared = new TreeMap<>(all(kind));
        declared.values().removeIf(written -> kind.isRemoved(written.value()));
        return declared;
    }

    /** The same, and the objects whose declaration is ended and whose record is not removed yet. */
    <T extends Event> SortedMap<String, Written<T>> shown(DeclaredKind<T> kind) {
        return new TreeMap<>(all(kind));
    }

    /** The newest record of an object, also if it ends the declaration and the object still may have GPUs. */
    <T extends Event> Optional<Written<T>> find(DeclaredKind<T> kind, String name) {
        return Optional.ofNullable(all(kind).get(name));
    }

    @SuppressWarnings("unchecked") // hand() puts the objects of T under a kind of T
    private <T extends Event> SortedMap<String, Written<T>> all(DeclaredKind<T> kind) {
        return (SortedMap<String, Written<T>>) newest.getOrDefault(kind, new TreeMap<>());
    }
}
