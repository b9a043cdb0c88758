package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A driver in step that never has an event. */
class InStepDriverTest {
    private final List<Order> taken = new ArrayList<>();

    private final class QuietDriver implements InStepDriver {
        @Override
        public boolean runs(Tenant tenant, Optional<TrainingJob> job) {
            return true;
        }

        @Override
        public Abilities abilities() {
            return Abilities.USUAL.withMig(false);
        }

        @Override
        public boolean batches() {
            return false;
        }

        @Override
        public void take(Order order, OrderSubject subject, Instant now) {
            taken.add(order);
        }

        @Override
        public Optional<ExpectedEvent> next() {
            return Optional.empty();
        }

        @Override
        public DriverEvent takeNext() {
            throw new IllegalStateException("there is no event");
        }

        @Override
        public void lose(Collection<GpuId> units) {}

        @Override
        public List<ExpectedEvent> expected() {
            return List.of();
        }

        @Override
        public void restore(
                Collection<Holding> holdings, Collection<Order.Place> places, Collection<ExpectedEvent> expected) {}
    }

    @Test
    void getsEachOrderWhenItIsGivenAndItsReportsReachTheScheduler() {
        var actuator = new ActuatorFixture(() -> new QuietDriver());

        actuator.take(0, resize(BERT, gpus("t1"), "t1"));

        assertThat(taken).singleElement().isInstanceOf(Order.Place.class);
        assertThat(actuator.actuation().orders()).isEmpty();
        assertThat(actuator.log).containsExactly("0 d/1/1 ACCEPTED t1");
    }

    @Test
    void isKilledLikeAnyDriverWhereItDoesNotReportAStart() {
        var actuator = new ActuatorFixture(() -> new QuietDriver());
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        taken.clear();

        actuator.advance(60);

        assertThat(taken).filteredOn(Order.Force.class::isInstance).hasSize(1);
        assertThat(actuator.holdings()).containsExactly("t1 bert RELEASING");
    }
}
