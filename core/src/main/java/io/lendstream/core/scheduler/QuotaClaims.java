package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The claims of the jobs of an event, one after the other. */
final class QuotaClaims {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final QueueLedger kept;
    private final ClaimSearch search;

    QuotaClaims(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        QuotaGuard guard = new QuotaGuard(builder);
        this.kept = guard.kept();
        long lendable = LoanLimit.besidePlan(builder, policy, settings).most();
        this.search = new ClaimSearch(builder, settings, guard, kept, lendable);
    }

    /** Takes and promises the GPUs of a job on the kind that costs others the fewest GPUs, if it may have them. */
    void ask(JobState job) {
        ClusterQueue queue =
                builder.entities().queueOf(new Tenant.Job(job.spec().job())).orElseThrow();
        int least = policy.fewest(job.spec());
        if (least == 0) {
            return;
        }
        Optional<QuotaClaim> best = Optional.empty();
        for (Optional<KindId> kind : kinds(job.spec())) {
            Optional<QuotaClaim> claim = search.claim(new QuotaClaim.Ask(job, queue, kind, least));
            if (claim.isPresent()
                    && (best.isEmpty() || claim.get().lost() < best.get().lost())) {
                best = claim;
            }
        }
        best.ifPresent(this::take);
    }

    private List<Optional<KindId>> kinds(TrainingJob job) {
        PersistentMap<KindId, Integer> known =
                builder.clusterIndex().trainingCapacity().kinds();
        if (known.size() < 2) {
            Optional<KindId> only = known.firstKey();
            return only.filter(job::excludes).isPresent() ? List.of() : List.of(only);
        }
        List<Optional<KindId>> kinds = new ArrayList<>();
        for (Map.Entry<KindId, Integer> kind : known) {
            if (KindChoice.mayUse(job, kind.getKey())) {
                kinds.add(Optional.of(kind.getKey()));
            }
        }
        return kinds;
    }

    private void take(QuotaClaim claim) {
        List<GpuId> target = claim.target();
        search.taken(target);
        builder.put(claim.job().aiming(target)); // victims leave it the host memory that it needs
        for (QuotaVictims.Loss loss : claim.losses()) {
            Instant by = builder.now().plus(settings.notice());
            new JobChanges(builder, settings).change(loss.job(), loss.left(), by, reason(claim, loss));
            loss.job().allocation().gpus().stream()
                    .filter(unit -> !loss.left().contains(unit))
                    .forEach(kept::remove);
        }
        builder.invalidatePlan();
        QueueId queue = claim.ask().queue().queue();
        Tenant tenant = new Tenant.Job(claim.job().spec().job());
        for (GpuId id : target) {
            GpuState unit = builder.gpu(id);
            builder.promises().add(id, tenant, new ReplicaChanges(builder, settings).promisedUntil());
            kept.add(id, queue, unit.kind(), 1, false);
        }
    }

    private Reason reason(QuotaClaim claim, QuotaVictims.Loss loss) {
        QueueId theirs = builder.entities()
                .queueOf(new Tenant.Job(loss.job().spec().job()))
                .map(ClusterQueue::queue)
                .orElseThrow();
        Optional<QuotaUse> use = kept.use(theirs, unitKind(loss));
        JobChanges.Returned returned = JobChanges.Returned.of(loss.job(), loss.left());
        Map<String, Double> numbers = new TreeMap<>(returned.numbers(Map.of()));
        numbers.put("asked", (double) claim.ask().gpus());
        numbers.put("nominal", claim.use().nominal());
        numbers.put("used", claim.use().used());
        use.ifPresent(other -> {
            numbers.put("nominalOfOther", other.nominal());
            numbers.put("usedOfOther", other.used());
        });
        String cause = theirs.equals(claim.ask().queue().queue())
                ? "%s has a lower priority".formatted(loss.job().spec().job())
                : "queue %s uses %s"
                        .formatted(theirs, use.map(QuotaUse::inWords).orElse("no quota"));
        return builder.because(
                ReasonCode.QUOTA,
                "%s: %s, and %s".formatted(returned.inWords(), wish(claim), cause),
                numbers,
                List.of(claim.job().lastEvent(), loss.job().lastEvent()));
    }

    private String wish(QuotaClaim claim) {
        return "%s of queue %s asks for %s, its queue uses %s"
                .formatted(
                        claim.job().spec().job(),
                        claim.ask().queue().queue(),
                        Reason.counted(claim.ask().gpus(), "GPU"),
                        claim.use().inWords());
    }

    private Optional<KindId> unitKind(QuotaVictims.Loss loss) {
        return builder.gpu(loss.given().get(0)).kind();
    }
}
