package io.lendstream.actuator.adoption;

/** Receives the ends of adopted processes. Called on the host's single thread, so it must not block. */
@FunctionalInterface
public interface AdoptionListener {
    /**
     * No process of it is left.
     *
     * @param asked whether it was to end; otherwise it has ended by itself, or was ended by something else
     * @param forced whether it was killed
     */
    void gone(AdoptedTenant adopted, boolean asked, boolean forced);
}
