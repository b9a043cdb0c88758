package io.lendstream.core.state;

import java.util.EnumSet;
import java.util.Set;

/** The questions about an owner state that are answered with yes or no: a row a state, so that a new state has to answer all of them. */
final class OwnerTraits implements Owner.Cases<Set<OwnerTraits.Trait>> {
    static final OwnerTraits OF_STATE = new OwnerTraits();

    /** What may be true of a state; {@link Owner} has the questions. */
    enum Trait {
        FREE,
        BINDING,
        LENT,
        SERVING,
        PROTECTED,
        SLEEPING,
        RELEASING,
        RECUTTING,
        QUARANTINED,
        UP,
        IN_TRANSFER,
        IDLE_REPLICA
    }

    private static final Set<Trait> OF_FREE = EnumSet.of(Trait.FREE);
    private static final Set<Trait> OF_BINDING = EnumSet.of(Trait.BINDING, Trait.IN_TRANSFER);
    private static final Set<Trait> OF_LENT = EnumSet.of(Trait.LENT, Trait.UP);
    private static final Set<Trait> OF_TRAINING = EnumSet.of(Trait.UP);
    private static final Set<Trait> OF_SERVING = EnumSet.of(Trait.SERVING, Trait.UP);
    private static final Set<Trait> OF_PROTECTED = EnumSet.of(Trait.PROTECTED, Trait.IDLE_REPLICA, Trait.UP);
    private static final Set<Trait> OF_SLEEPING = EnumSet.of(Trait.SLEEPING, Trait.IDLE_REPLICA, Trait.UP);
    private static final Set<Trait> OF_RELEASING = EnumSet.of(Trait.RELEASING, Trait.IN_TRANSFER);
    private static final Set<Trait> OF_RECUTTING = EnumSet.of(Trait.RECUTTING);
    private static final Set<Trait> OF_QUARANTINED = EnumSet.of(Trait.QUARANTINED);

    private OwnerTraits() {}

    @Override
    public Set<Trait> free(Owner.Free free) {
        return OF_FREE;
    }

    @Override
    public Set<Trait> binding(Owner.Binding binding) {
        return OF_BINDING;
    }

    @Override
    public Set<Trait> lent(Owner.Lent lent) {
        return OF_LENT;
    }

    @Override
    public Set<Trait> training(Owner.Training training) {
        return OF_TRAINING;
    }

    @Override
    public Set<Trait> serving(Owner.Serving serving) {
        return OF_SERVING;
    }

    @Override
    public Set<Trait> protectedReplica(Owner.Protected replica) {
        return OF_PROTECTED;
    }

    @Override
    public Set<Trait> sleeping(Owner.Sleeping sleeping) {
        return OF_SLEEPING;
    }

    @Override
    public Set<Trait> releasing(Owner.Releasing releasing) {
        return OF_RELEASING;
    }

    @Override
    public Set<Trait> recutting(Owner.Recutting recutting) {
        return OF_RECUTTING;
    }

    @Override
    public Set<Trait> quarantined(Owner.Quarantined quarantined) {
        return OF_QUARANTINED;
    }
}
