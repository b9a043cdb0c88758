package io.lendstream.core.actuation;

/** How long carrying out decisions takes, and what goes wrong. Equal undertakings take equal courses. */
@FunctionalInterface
public interface DelayModel {
    Course course(Undertaking undertaking);
}
