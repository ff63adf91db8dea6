import classes from './diagram.module.css';

/** The look of the drawing surface, for whoever draws a ReactFlow of their own. */
export const flowClass = classes.flow ?? '';
