package io.lendstream.launcher.declare;

import io.lendstream.core.id.DomainId;

/** The name of an object, unique in its kind, and its domain. */
record ObjectName(String value, DomainId domain) {}
