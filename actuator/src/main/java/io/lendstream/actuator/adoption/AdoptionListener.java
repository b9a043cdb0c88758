package io.lendstream.actuator.adoption;

/** Receives the ends of adopted processes. Called on the host's single thread, so it must not block. */
@FunctionalInterface
public interface AdoptionListener {
    /** Its root has ended. */
    void gone(AdoptedTenant adopted, AdoptionEnd end);
}
