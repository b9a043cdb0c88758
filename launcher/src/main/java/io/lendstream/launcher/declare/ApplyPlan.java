package io.lendstream.launcher.declare;

import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.launcher.operation.EndedJobs;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What {@code apply} does with the objects of files, compared with those in the topics. */
final class ApplyPlan {
    private final List<ObjectChange<?>> changes = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    /** The queues as they are after the changes. */
    private final Map<QueueId, ClusterQueue> queues = new HashMap<>();

    /** The kinds whose topics are read: queues too if an object names one. */
    static Set<DeclaredKind<?>> kinds(Collection<DeclaredObject<?>> objects) {
        Set<DeclaredKind<?>> kinds = new LinkedHashSet<>();
        for (DeclaredObject<?> object : objects) {
            kinds.add(object.kind());
            if (queueOf(object).isPresent()) {
                kinds.add(DeclaredKinds.QUEUE);
            }
        }
        return kinds;
    }

    private static <T extends Event> Optional<QueueId> queueOf(DeclaredObject<T> object) {
        return object.kind().queueOf(object.record(Instant.EPOCH, Optional.empty()));
    }

    /** Compares objects with those in the topics. */
    static ApplyPlan of(List<DeclaredObject<?>> objects, DeclaredTopics topics) {
        ApplyPlan plan = new ApplyPlan();
        Instant now = topics.now();
        topics.newest(DeclaredKinds.QUEUE).values().forEach(written -> plan.know(written.value()));
        objects.forEach(object -> plan.compare(object, topics, now));
        plan.changes.forEach(change -> plan.know(change.after()));
        if (topics.seesAll()) {
            plan.changes.forEach(plan::warn);
        }
        return plan;
    }

    private void know(Object value) {
        if (value instanceof ClusterQueue queue) {
            queues.put(queue.queue(), queue);
        }
    }

    private <T extends Event> void compare(DeclaredObject<T> object, DeclaredTopics topics, Instant now) {
        DomainId domain = object.name().domain();
        try {
            topics.intake().filter(intake -> !intake.covers(domain)).ifPresent(intake -> {
                throw object.place()
                        .bad("metadata.domain is %s, but intake %s may write only about domains %s. Name one of them."
                                .formatted(domain, intake.name(), intake.domainList()));
            });
            Optional<Written<T>> before =
                    topics.find(object.kind(), object.name().value());
            String target = topics.cluster().topics().target(object.kind().topic());
            changes.add(ObjectChange.of(object, before, target, now));
        } catch (UserError e) {
            problems.add(String.valueOf(e.getMessage()));
        }
    }

    private <T extends Event> void warn(ObjectChange<T> change) {
        DeclaredObject<T> object = change.object();
        Optional<QueueId> named = object.kind().queueOf(change.after());
        Optional<ClusterQueue> queue = named.map(queues::get)
                .filter(known -> known.domain().equals(object.name().domain()));
        if (named.isPresent() && queue.isEmpty()) {
            warnings.add(
                    "WARNING: %s names queue %s, which is not declared in domain %s: it has no quota. Declare the queue, or correct the name."
                            .formatted(
                                    object.shown(), named.get(), object.name().domain()));
        }
        adoptOf(change.after())
                .flatMap(AdoptionSelector::againstProcesses)
                .ifPresent(why -> warnings.add("WARNING: nothing is taken over for %s by its 'adopt': %s. Correct it."
                        .formatted(object.shown(), why)));
        if (change.after() instanceof TrainingJob job) {
            job.precedence()
                    .priorityClass()
                    .filter(name -> queue.filter(
                                    known -> known.priorityClasses().containsKey(name))
                            .isEmpty())
                    .ifPresent(name -> warnings.add(
                            "WARNING: %s names priority class %s, which %s: it has priority %d. Add the class to the queue, or correct the name."
                                    .formatted(
                                            object.shown(),
                                            name,
                                            queue.map(known -> "queue %s does not have".formatted(known.queue()))
                                                    .orElse("no declared queue of the job has"),
                                            job.precedence().priority())));
        }
    }

    private static Optional<AdoptionSelector> adoptOf(Event declared) {
        return declared.asJob()
                .flatMap(TrainingJob::adopt)
                .or(() -> declared.asService().flatMap(InferenceService::adopt));
    }

    /** The jobs that would be new. */
    Set<JobId> newJobs() {
        return changes.stream().flatMap(change -> change.newJob().stream()).collect(Collectors.toSet());
    }

    /** Notes as an error each new job whose name one has that has ended. */
    void refuseNamesOf(EndedJobs ended) {
        for (ObjectChange<?> change : changes) {
            change.newJob()
                    .flatMap(ended::against)
                    .map(why -> change.object().place().bad("metadata.name " + why))
                    .ifPresent(problem -> problems.add(String.valueOf(problem.getMessage())));
        }
    }

    /** All objects, in the order of the files. */
    List<ObjectChange<?>> changes() {
        return List.copyOf(changes);
    }

    /** Errors; with any of them nothing is written. */
    List<String> problems() {
        return List.copyOf(problems);
    }

    /** Remarks about names that lead nowhere. */
    List<String> warnings() {
        return List.copyOf(warnings);
    }
}
