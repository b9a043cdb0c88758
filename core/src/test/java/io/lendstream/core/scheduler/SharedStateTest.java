package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A state is read by several threads. Tables for look-ups belong to one, and end with the step. */
class SharedStateTest {
    private static final List<String> PRODUCTS = List.of("NVIDIA A100-SXM4-80GB", "Tesla T4");
    private static final List<QueueId> QUEUES = List.of(new QueueId("team-a"), new QueueId("team-b"));

    @Seeds(10)
    void noTableForLookUpsLeavesAStep(long seed) throws ReflectiveOperationException {
        RandomHistory history = RandomHistory.of(seed, ClusterModel.KINDS, PRODUCTS, QUEUES);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            Step step = history.scheduler().step(state, event);
            state = step.state();

            List<String> hashed = new ArrayList<>();
            collect("step", step, hashed);
            assertThat(hashed).as("tables after event %d", event.sequence()).isEmpty();
        }
    }

    @Seeds(1)
    void aTableIsFoundWhereThereIsOne(long seed) throws ReflectiveOperationException {
        List<String> hashed = new ArrayList<>();
        RandomHistory history = RandomHistory.of(seed);
        StepBuilder step = new StepBuilder(
                ClusterState.empty(Scenario.DOMAIN), history.log().get(0), StepListener.NONE);
        step.expectLookUps();

        collect("entities", step.entities(), hashed);

        assertThat(hashed).contains("entities.gpus", "entities.jobs");
    }

    /** Collects the paths of the maps with a table in a record and in those that it has. */
    private static void collect(String path, Object value, List<String> hashed) throws ReflectiveOperationException {
        if (value instanceof PersistentMap<?, ?> map) {
            Field table = PersistentMap.class.getDeclaredField("table");
            table.setAccessible(true);
            if (table.get(map) != null) {
                hashed.add(path);
            }
        } else if (value instanceof Optional<?> some && some.isPresent()) {
            collect(path, some.get(), hashed);
        } else if (value instanceof Record each && each.getClass().getName().startsWith("io.lendstream")) {
            for (RecordComponent component : each.getClass().getRecordComponents()) {
                var accessor = component.getAccessor();
                accessor.setAccessible(true);
                Object inner = accessor.invoke(each);
                if (inner != null) {
                    collect(path + "." + component.getName(), inner, hashed);
                }
            }
        }
    }
}
