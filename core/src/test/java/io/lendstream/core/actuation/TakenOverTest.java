package io.lendstream.core.actuation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An actuator that takes over what something else has started. */
class TakenOverTest {
    private static final Tenant BERT = ActuatorFixture.BERT;
    private static final String USER = "process/4711-99";
    private static final Adopted FOUND = new Adopted(USER, gpus("t1", "t2"));

    private final ActuatorFixture actuator = ActuatorFixture.driven();

    private static List<GpuId> gpus(String... names) {
        return Stream.of(names).map(GpuId::new).toList();
    }

    private static Allocation allocation(String... gpus) {
        return new Allocation(gpus(gpus), gpus.length == 0 ? 0 : 32, 0, 1, Mechanism.AFE);
    }

    private static Action adopt() {
        return new Action.Adopt(BERT, List.of(FOUND), List.of(), Optional.empty(), Optional.of(allocation("t1", "t2")));
    }

    private List<Order> orders() {
        return actuator.actuation().orders();
    }

    private static Order.Place place(Order order) {
        assertThat(order).isInstanceOf(Order.Place.class);
        return (Order.Place) order;
    }

    @Test
    void theDriverIsToldWhatRunsAlready() {
        DecisionId id = actuator.take(0, adopt());
        Order.Place place = place(orders().get(0));
        assertThat(place.units()).isEqualTo(gpus("t1", "t2"));
        assertThat(place.adopted()).isEqualTo(List.of(FOUND));

        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.done(1, new DriverEvent.InForce(BERT, id));
        assertThat(actuator.log)
                .isEqualTo(List.of("0 d/1/1 ACCEPTED t1,t2", "1 d/1/1 BOUND t1,t2", "1 d/1/1 APPLIED t1,t2"));
    }

    @Test
    void itIsStillKnownAfterARestartAndWhileTheJobChanges() {
        DecisionId id = actuator.take(0, adopt());
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.done(1, new DriverEvent.InForce(BERT, id));
        orders();
        assertThat(place(actuator.restart(2).get(0)).adopted()).isEqualTo(List.of(FOUND));

        actuator.take(3, new Action.Resize(ActuatorFixture.BERT.job(), gpus("t3"), allocation("t1", "t2", "t3")));
        assertThat(place(orders().get(0)).adopted()).isEqualTo(List.of(FOUND));
    }

    @Test
    void whatTheDriverCannotTakeOverIsNotKilled() {
        DecisionId id = actuator.take(0, adopt());
        orders();
        actuator.done(1, new DriverEvent.Failed(BERT, id, "it has ended"));

        assertThat(orders()).noneMatch(Order.Force.class::isInstance);
        assertThat(actuator.log).contains("1 d/1/1 FAILED t1,t2 (it has ended)");
        assertThat(actuator.actuation().holdings()).isEmpty();
    }

    @Test
    void whatTheDriverDoesNotAnswerForIsLetGo() {
        DecisionId id = actuator.take(0, adopt());
        orders();
        actuator.advance(60);

        assertThat(actuator.log).contains("60 d/1/1 FAILED t1,t2 (was not taken over until 2026-01-01T12:01:00Z)");
        assertThat(actuator.actuation().holdings()).isEmpty();
        assertThat(orders().stream().filter(Order.Force.class::isInstance).map(Order::decision))
                .as("by the decision of the adoption, by which a driver lets go")
                .containsExactly(id);
    }

    /** The adoption was undone by the scheduler, because another part of the job failed; it was taken over again there. */
    @Test
    void whatADecisionDoesNotKnowOfIsGivenUpAndNotStopped() {
        DecisionId id = actuator.take(0, adopt());
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.done(1, new DriverEvent.InForce(BERT, id));
        orders();
        actuator.take(5, new Action.Resize(ActuatorFixture.BERT.job(), gpus("t3"), allocation("t3", "elsewhere")));

        Order.Place place = place(orders().get(0));
        assertThat(place.units()).isEqualTo(gpus("t3"));
        assertThat(place.leaving()).isEmpty();
        assertThat(place.adopted()).isEmpty();
        assertThat(actuator.log)
                .contains(
                        "5 d/1/2 RELEASED t1,t2 (given up, as the decision does not know of it: process/4711-99 runs on)");
        assertThat(actuator.holdings()).isEqualTo(List.of("t3 bert BINDING"));
    }

    @Test
    void othersThatRunOnWhereItHasEndedAreReported() {
        DecisionId id = actuator.take(0, adopt());
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.done(1, new DriverEvent.InForce(BERT, id));

        assertThat(actuator.done(
                        5, new DriverEvent.Stopped(BERT, gpus("t1", "t2"), false, "others run on").leavingOthers(true)))
                .singleElement()
                .satisfies(report -> {
                    assertThat(report.outcome()).isEqualTo(Outcome.RELEASED);
                    assertThat(report.found())
                            .extracting(FoundTenant::user, FoundTenant::claimedBy)
                            .containsExactly(tuple(USER, List.of(BERT)));
                });
        assertThat(actuator.holdings()).isEmpty();
    }

    @Test
    void whatADecisionNamesLeaves() {
        DecisionId id = actuator.take(0, adopt());
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.done(1, new DriverEvent.InForce(BERT, id));
        orders();
        actuator.take(5, new Action.Resize(ActuatorFixture.BERT.job(), gpus("t1", "t3"), allocation("t3")));

        assertThat(place(orders().get(0)).leaving())
                .as("also what the decision missed of the same process")
                .isEqualTo(gpus("t1", "t2"));
    }

    @Test
    void whatIsThereAlreadyStays() {
        DecisionId id = actuator.take(0, adopt());
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.done(1, new DriverEvent.InForce(BERT, id));
        actuator.take(5, adopt());

        assertThat(actuator.log)
                .noneMatch(line -> line.contains("REJECTED"))
                .contains("5 d/1/2 BOUND t1,t2 (it is taken over already)");
        assertThat(actuator.actuation().holdings()).hasSize(2);
    }

    @Test
    void aLoanIsTakenOverWithItsLease() {
        Instant until = Instant.parse("2026-01-01T12:10:00Z");
        actuator.take(
                0,
                new Action.Adopt(
                        BERT,
                        List.of(new Adopted(USER, gpus("i1"))),
                        List.of(),
                        Optional.of(until),
                        Optional.of(allocation("i1"))));
        assertThat(actuator.actuation().holdings().get(0).loan().orElseThrow().until())
                .isEqualTo(until);
    }
}
