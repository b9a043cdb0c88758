package io.lendstream.core.policy;

import io.lendstream.core.goodput.SpeedOnKind;
import java.util.OptionalDouble;

/** The goodput of a model, on a kind of GPU. */
public record ModelGoodput(SpeedOnKind speed) implements Goodput {
    @Override
    public double on(int nodes, int gpus) {
        return speed.on(nodes, gpus);
    }

    @Override
    public double packed(int gpusPerNode, int gpus) {
        return speed.packed(gpusPerNode, gpus);
    }

    @Override
    public OptionalDouble ratioTo(Goodput other) {
        return other instanceof ModelGoodput model && model.speed.known().equals(speed.known())
                ? OptionalDouble.of(speed.factor() / model.speed.factor())
                : OptionalDouble.empty();
    }
}
