package io.lendstream.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each question has the same answer for the same state, and every state is among those that are asked. */
class OwnerTest {
    private static final Instant T0 = Instant.parse("2026-01-01T00:00:00Z");
    private static final DecisionId DECISION = new DecisionId(new DomainId("gpus"), 1, 2);
    private static final JobId JOB = new JobId("bert");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Tenant TO_JOB = new Tenant.Job(JOB);
    private static final Tenant TO_CHAT = new Tenant.Service(CHAT);

    private static final Owner FREE = new Owner.Free();
    private static final Owner.Binding STARTING = new Owner.Binding(TO_CHAT, DECISION, T0, Optional.empty(), 1);
    private static final Owner.Binding MOVING = new Owner.Binding(TO_JOB, DECISION, T0, Optional.of(T0), 1);
    private static final Owner.Lent LENT = new Owner.Lent(JOB, DECISION, T0.plusSeconds(9));
    private static final Owner TRAINING = new Owner.Training(JOB);
    private static final Owner SERVING = new Owner.Serving(CHAT);
    private static final Owner PROTECTED = new Owner.Protected(CHAT, T0.plusSeconds(1), 0);
    private static final Owner SLEEPING = new Owner.Sleeping(CHAT);
    private static final Owner.Releasing STOPPING = new Owner.Releasing(TO_CHAT, DECISION, T0, T0.plusSeconds(2));
    private static final Owner.Releasing LEAVING = new Owner.Releasing(TO_JOB, DECISION, T0, T0.plusSeconds(2));
    private static final Owner.Recutting RECUTTING = new Owner.Recutting(DECISION, T0.plusSeconds(3), true);
    private static final Owner QUARANTINED = new Owner.Quarantined("XID 79");
    private static final Owner FOREIGN =
            new Owner.Quarantined(ForeignUse.by(List.of("slurm/7")).unusedUntil(T0.plusSeconds(4)));

    private static final List<Owner> ALL = List.of(
            FREE,
            STARTING,
            MOVING,
            LENT,
            TRAINING,
            SERVING,
            PROTECTED,
            SLEEPING,
            STOPPING,
            LEAVING,
            RECUTTING,
            QUARANTINED,
            FOREIGN);

    @Test
    void everyStateIsAsked() {
        assertThat(ALL.stream().map(Owner::label).distinct()).containsExactlyInAnyOrderElementsOf(Owner.LABELS);
    }

    @Test
    void aQuestionAboutOneStateIsTrueOfThatStateAlone() {
        assertThat(those(Owner::isFree)).containsExactly(FREE);
        assertThat(those(Owner::isBinding)).containsExactly(STARTING, MOVING);
        assertThat(those(Owner::isLent)).containsExactly(LENT);
        assertThat(those(Owner::isServing)).containsExactly(SERVING);
        assertThat(those(Owner::isProtected)).containsExactly(PROTECTED);
        assertThat(those(Owner::isSleeping)).containsExactly(SLEEPING);
        assertThat(those(Owner::isReleasing)).containsExactly(STOPPING, LEAVING);
        assertThat(those(Owner::isRecutting)).containsExactly(RECUTTING);
        assertThat(those(Owner::isQuarantined)).containsExactly(QUARANTINED, FOREIGN);
        assertThat(those(Owner::isForeign)).containsExactly(FOREIGN);
    }

    @Test
    void aTenantRunsWhereItIsNeitherComingNorLeaving() {
        assertThat(those(Owner::isUp)).containsExactly(LENT, TRAINING, SERVING, PROTECTED, SLEEPING);
        assertThat(those(Owner::isInTransfer)).containsExactly(STARTING, MOVING, STOPPING, LEAVING);
    }

    @Test
    void aReplicaIsActiveOrIdle() {
        assertThat(those(Owner::isActiveReplica)).containsExactly(STARTING, SERVING);
        assertThat(those(Owner::isIdleReplica)).containsExactly(PROTECTED, SLEEPING);
        assertThat(those(owner -> owner.replicaOf().isPresent()))
                .containsExactly(STARTING, SERVING, PROTECTED, SLEEPING)
                .allSatisfy(owner -> assertThat(owner.replicaOf()).contains(CHAT));
    }

    @Test
    void theHolderIsAJobOrAServiceOrEmpty() {
        assertThat(those(Owner::isHeldByJob))
                .containsExactly(MOVING, LENT, TRAINING, LEAVING)
                .allSatisfy(owner -> assertThat(owner.holder()).contains(TO_JOB))
                .allSatisfy(owner -> assertThat(owner.holdingJob()).contains(JOB))
                .allSatisfy(owner -> assertThat(owner.holdingService()).isEmpty());
        assertThat(those(owner -> owner.holdingService().isPresent()))
                .containsExactly(STARTING, SERVING, PROTECTED, SLEEPING, STOPPING)
                .allSatisfy(owner -> assertThat(owner.holder()).contains(TO_CHAT))
                .allSatisfy(owner -> assertThat(owner.holdingJob()).isEmpty());
        assertThat(those(owner -> owner.holder().isEmpty())).containsExactly(FREE, RECUTTING, QUARANTINED, FOREIGN);
    }

    @Test
    void statesThatEndByThemselvesSayWhen() {
        Map<Owner, Instant> due = ALL.stream()
                .filter(owner -> owner.dueAt().isPresent())
                .collect(Collectors.toMap(owner -> owner, owner -> owner.dueAt().orElseThrow()));

        assertThat(due)
                .isEqualTo(Map.of(
                        STARTING, T0,
                        MOVING, T0,
                        PROTECTED, T0.plusSeconds(1),
                        STOPPING, T0.plusSeconds(2),
                        LEAVING, T0.plusSeconds(2),
                        RECUTTING, T0.plusSeconds(3),
                        FOREIGN, T0.plusSeconds(4)));
    }

    @Test
    void whatAStateHasIsReadFromThatStateAlone() {
        assertThat(ALL.stream().flatMap(owner -> owner.asLent().stream())).containsExactly(LENT);
        assertThat(ALL.stream().flatMap(owner -> owner.asBinding().stream())).containsExactly(STARTING, MOVING);
        assertThat(ALL.stream().flatMap(owner -> owner.asReleasing().stream())).containsExactly(STOPPING, LEAVING);
        assertThat(ALL.stream().flatMap(owner -> owner.asRecutting().stream())).containsExactly(RECUTTING);
    }

    private static List<Owner> those(Predicate<Owner> question) {
        return ALL.stream().filter(question).toList();
    }
}
