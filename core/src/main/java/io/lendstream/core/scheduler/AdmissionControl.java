package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.state.Admission;
import io.lendstream.core.state.JobState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Answers jobs before a plan: whether a job with a hard deadline can end by then, and whether a waiting job of a queue,
 * or one that requires a topology domain, can ever run. An answer is a {@code hold} with its numbers. A refused job is
 * not planned. It is looked at again before each plan, and a plan is due when the job, its queue, another job or a node
 * changes. A job that is admitted to a hard deadline stays admitted until its owner describes it in another way, or
 * GPUs leave so that the shares of admitted jobs exceed what is left. A job that has GPUs is never refused.
 */
final class AdmissionControl {
    private static final Comparator<JobState> EARLIEST = Comparator.comparing(
                    (JobState job) -> job.spec().hardDeadline().orElse(Instant.MAX))
            .thenComparing(job -> job.spec().submittedAt())
            .thenComparing(job -> job.spec().job());

    private final StepBuilder builder;
    private final SchedulerSettings settings;

    AdmissionControl(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
    }

    /** Answers the jobs that need an answer, those with the earliest hard deadlines first. */
    void answer() {
        List<JobState> asking = asking();
        List<JobState> admitted = withShares();
        if (asking.isEmpty() && admitted.isEmpty()) {
            return;
        }
        List<KindRoom> rooms = KindRoom.of(builder, settings);
        if (rooms.isEmpty()) {
            return; // no GPU is known yet, as at the start of a domain
        }
        LeastShare shares = new LeastShare(builder, settings, rooms);
        answerAgain(admitted, shares, rooms);
        asking.removeIf(job -> !job.isRefused() && !isHard(job) && shares.hasSize(job));
        asking.sort(EARLIEST);
        for (JobState job : asking) {
            AdmissionAnswer answer = isHard(job) || isOfQueue(job) || needsDomain(job)
                    ? shares.of(job)
                    : AdmissionAnswer.yes(
                            "it has no hard deadline, declared queue or required topology any more", Map.of());
            if (!job.isRefused() || answer.possible() || isOutdated(job)) {
                answer(job, answer, false);
                promise(job, answer, rooms);
            }
        }
    }

    private static void promise(JobState job, AdmissionAnswer answer, List<KindRoom> rooms) {
        for (KindRoom room : rooms) {
            if (answer.share() > 0 && room.kind().equals(answer.kind())) {
                room.promise(job, answer.share());
            }
        }
    }

    /**
     * Answers admitted jobs again where GPUs have left, so that their shares exceed what is left. An answer that says
     * the same is not repeated.
     */
    private void answerAgain(List<JobState> admitted, LeastShare shares, List<KindRoom> rooms) {
        admitted.removeIf(job -> rooms.stream().anyMatch(room -> room.hasShare(job) && !room.isShort()));
        admitted.sort(EARLIEST);
        admitted.forEach(job -> rooms.forEach(room -> room.takeBack(job)));
        for (JobState job : admitted) {
            AdmissionAnswer answer = shares.of(job);
            Optional<Admission> before = job.admission();
            boolean isSame = before.filter(known ->
                            known.share() == answer.share() && known.kind().equals(answer.kind()))
                    .isPresent();
            if (!isSame) {
                answer(job, answer, true);
            }
            promise(job, answer, rooms);
        }
    }

    /** The jobs that the answers to others leave GPUs for. */
    private List<JobState> withShares() {
        List<JobState> admitted = new ArrayList<>();
        for (JobState job : builder.entities().openJobs()) {
            boolean hasShare = isHard(job)
                    && job.admission().filter(answer -> answer.share() > 0).isPresent()
                    && job.spec().hardDeadline().filter(builder.now()::isBefore).isPresent();
            if (hasShare && (job.changing().isEmpty() || job.gpus() > 0)) {
                admitted.add(job);
            }
        }
        return admitted;
    }

    /** The jobs that an answer may be due for. */
    private List<JobState> asking() {
        boolean areThereQueues = !builder.entities().queues().isEmpty();
        List<JobState> asking = new ArrayList<>();
        for (JobState job : builder.entities().openJobs()) {
            boolean needsAnswer = isHard(job)
                    ? job.admission().isEmpty()
                    : job.gpus() == 0 && ((areThereQueues && isOfQueue(job)) || needsDomain(job));
            if (needsAnswer && job.changing().isEmpty()) {
                asking.add(job);
            }
        }
        for (JobState job : builder.clusterIndex().jobs().refused().values()) {
            asking.add(job);
        }
        return asking;
    }

    private static boolean isHard(JobState job) {
        return job.spec().hardDeadline().isPresent();
    }

    private static boolean needsDomain(JobState job) {
        JobShape shape = job.spec().shape();
        return !shape.isAny() && shape.required().isPresent();
    }

    /** Whether a job is in a queue that is declared. */
    private boolean isOfQueue(JobState job) {
        return isOfQueue(builder, job);
    }

    /** Whether a job names a declared queue. */
    static boolean isOfQueue(StepBuilder builder, JobState job) {
        return job.spec().queue().filter(builder.entities().queues()::contains).isPresent();
    }

    /** Whether the answer is to another description of the job. */
    private static boolean isOutdated(JobState job) {
        return job.admission().filter(Admission::outdated).isPresent();
    }

    /** @param again whether GPUs have left since the answer before */
    private void answer(JobState job, AdmissionAnswer answer, boolean again) {
        boolean keepsRunning = !answer.possible() && job.gpus() > 0;
        boolean admitted = answer.possible() || keepsRunning;
        builder.put(job.answered(new Admission(admitted, answer.share(), answer.kind())));
        Map<String, Double> numbers = new TreeMap<>(answer.numbers());
        numbers.put("admitted", admitted ? 1.0 : 0.0);
        numbers.put("inTime", answer.possible() ? 1.0 : 0.0);
        String verdict = admitted ? "is admitted" : "is refused";
        String text = "%s%s %s%s %s"
                .formatted(
                        again ? "GPUs have left that admitted jobs count on: " : "",
                        job.spec().job(),
                        verdict,
                        keepsRunning ? " because it already has GPUs, but" : ":",
                        answer.why());
        builder.decide(
                builder.now(),
                builder.because(ReasonCode.ADMISSION, text, numbers, List.of(job.lastEvent())),
                new Action.Hold(Optional.of(job.spec().job()), Optional.empty(), answer.queue()));
    }
}
