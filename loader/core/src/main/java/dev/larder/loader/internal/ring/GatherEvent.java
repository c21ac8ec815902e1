package dev.larder.loader.internal.ring;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** Copies of rows into a batch. */
@Name("dev.larder.Gather")
@Label("Gather")
@Description("A thread copied rows of one array into a batch")
final class GatherEvent extends FieldEvent {}
