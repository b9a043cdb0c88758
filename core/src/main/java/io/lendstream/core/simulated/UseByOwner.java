package io.lendstream.core.simulated;

import io.lendstream.core.simulated.SimulatedNodes.Use;
import io.lendstream.core.state.Owner;
import java.util.Optional;

/** What runs on a GPU in each state of its owner; nothing, where nothing does yet or any more. */
final class UseByOwner implements Owner.Cases<Optional<Use>> {
    static final UseByOwner INSTANCE = new UseByOwner();

    private UseByOwner() {}

    @Override
    public Optional<Use> free(Owner.Free free) {
        return Optional.empty();
    }

    @Override
    public Optional<Use> binding(Owner.Binding binding) {
        return Optional.empty();
    }

    @Override
    public Optional<Use> lent(Owner.Lent lent) {
        return Optional.of(Use.TRAINING);
    }

    @Override
    public Optional<Use> training(Owner.Training training) {
        return Optional.of(Use.TRAINING);
    }

    @Override
    public Optional<Use> serving(Owner.Serving serving) {
        return Optional.of(Use.SERVING);
    }

    @Override
    public Optional<Use> protectedReplica(Owner.Protected replica) {
        return Optional.of(Use.WARM);
    }

    @Override
    public Optional<Use> sleeping(Owner.Sleeping sleeping) {
        return Optional.of(Use.WARM);
    }

    @Override
    public Optional<Use> releasing(Owner.Releasing releasing) {
        return Optional.of(Use.of(releasing.tenant()));
    }

    @Override
    public Optional<Use> recutting(Owner.Recutting recutting) {
        return Optional.empty();
    }

    @Override
    public Optional<Use> quarantined(Owner.Quarantined quarantined) {
        return Optional.empty();
    }
}
