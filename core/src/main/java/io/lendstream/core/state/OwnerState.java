package io.lendstream.core.state;

/** The states of {@link Owner}, each with the answers to questions about several states. */
public enum OwnerState {
    FREE(false, false, false),
    BINDING(false, true, false),
    LENT(true, false, false),
    TRAINING(true, false, false),
    SERVING(true, false, false),
    PROTECTED(true, false, true),
    SLEEPING(true, false, true),
    RELEASING(false, true, false),
    RECUTTING(false, false, false),
    QUARANTINED(false, false, false);

    private final boolean up;
    private final boolean inTransfer;
    private final boolean idleReplica;

    OwnerState(boolean up, boolean inTransfer, boolean idleReplica) {
        this.up = up;
        this.inTransfer = inTransfer;
        this.idleReplica = idleReplica;
    }

    /** Whether a tenant runs there, as far as reports say. */
    public boolean isUp() {
        return up;
    }

    /** Whether the unit is on its way to a tenant, or back from one. */
    public boolean isInTransfer() {
        return inTransfer;
    }

    /** Whether a replica is warm that demand does not need now. */
    public boolean isIdleReplica() {
        return idleReplica;
    }
}
