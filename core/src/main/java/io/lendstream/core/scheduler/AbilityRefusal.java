package io.lendstream.core.scheduler;

/**
 * The cause why a unit gets no new tenant, or a job no more units: an ability of an actuator.
 *
 * @param ability the ability that is missing, as records spell it
 * @param text a clause with the name of the actuator
 */
record AbilityRefusal(String ability, String text) {
    /** The ability that is missing where two actuators claim a node. */
    static final String ACTUATOR = "actuator";
}
